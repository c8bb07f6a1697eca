const oneOf = (key, required, names) => field(key, required, v => names.includes(v), 'must be one of ' + names.join(', '));
