oneOf('list', false, LISTS);
limit();

const args = bad.length ? {} : { list: given.list ?? LISTS[0], limit: given.limit ?? 50 };
return [{ json: { valid: bad.length === 0, bad, args } }];
