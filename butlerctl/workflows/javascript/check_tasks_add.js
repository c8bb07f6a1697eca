const DAY = 'must be a day that exists, YYYY-MM-DD';
text('title', true);
field('due', false, v => typeof v === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(v), DAY);
oneOf('list', false, LISTS);
if (!bad.length && given.due !== undefined && !dayExists(given.due)) bad.push('due: ' + DAY);

const args = {};
if (!bad.length) {
  args.list = given.list ?? LISTS[0];
  args.title = given.title;
  if (given.due !== undefined) args.due = given.due + 'T00:00:00.000Z';
}
return [{ json: { valid: bad.length === 0, bad, args } }];
