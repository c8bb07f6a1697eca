const t = $input.first().json;
if (!t || !t.id) throw new Error('Google returned no task id');
return [{ json: { data: { id: t.id, title: t.title, due: t.due ?? null, status: t.status } } }];
