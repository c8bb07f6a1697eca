oneOf('sheet', true, TABS);
limit();

const args = bad.length ? {} : { sheet: given.sheet, limit: given.limit ?? 100 };
return [{ json: { valid: bad.length === 0, bad, args } }];
