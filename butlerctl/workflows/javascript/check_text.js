const text = (key, required) => field(key, required, v => typeof v === 'string' && /\S/.test(v), 'must be a non-empty string');
