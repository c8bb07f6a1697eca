const items = rows.slice(0, args.limit).map(t => {
  if (!t.id) throw new Error('task without id');
  return { id: t.id, title: t.title, due: t.due ?? null, status: t.status };
});
return [{ json: { data: { count: items.length, complete: rows.length <= args.limit, items } } }];
