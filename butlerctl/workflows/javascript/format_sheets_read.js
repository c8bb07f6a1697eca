const items = rows.slice(0, args.limit);
return [{ json: { data: { count: items.length, complete: rows.length <= args.limit, items } } }];
