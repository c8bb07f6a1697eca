text('summary', true);
instant('start', true);
instant('end', true);
text('category', false);
if (!bad.length) timesExistInOrder();

const args = bad.length ? {} : { category: given.category ?? '', summary: given.summary, start: given.start, end: given.end };
return [{ json: { valid: bad.length === 0, bad, args } }];
