const e = $input.first().json;
if (!e || !e.id || e.status === 'cancelled') throw new Error('Google returned no event id');
return [{ json: { data: { id: e.id, summary: e.summary ?? '', start: e.start, end: e.end, status: e.status, htmlLink: e.htmlLink } } }];
