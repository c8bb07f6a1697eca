const items = rows.map(e => {
  if (!e.id) throw new Error('event without id');
  return { id: e.id, summary: e.summary ?? '', start: e.start, end: e.end, status: e.status };
});
return [{ json: { data: { count: items.length, complete: items.length < args.limit, window: { start: args.start, end: args.end }, items } } }];
