instant('start', false);
instant('end', false);
limit();
if (!bad.length) timesExistInOrder();

const args = {};
if (!bad.length) {
  const week = 7 * 24 * 3600 * 1000;
  const now = new Date().toISOString();
  const start = given.start ?? (Date.parse(given.end) <= Date.parse(now) ? new Date(Date.parse(given.end) - week).toISOString() : now);
  args.start = start;
  args.end = given.end ?? new Date(Date.parse(start) + week).toISOString();
  args.limit = given.limit ?? 50;
}
return [{ json: { valid: bad.length === 0, bad, args } }];
