const isCell = v => typeof v === 'number' || (typeof v === 'string' && !/^\s*[=+@]/.test(v));
oneOf('sheet', true, TABS);
field('values', true, v => Array.isArray(v) && v.length === COLUMNS.length && v.every(isCell),
  'must be ' + COLUMNS.length + ' cells (' + COLUMNS.join(', ') + '), strings or numbers, none starting with =, + or @');

const args = bad.length ? {} : { sheet: given.sheet, values: given.values };
return [{ json: { valid: bad.length === 0, bad, args } }];
