const body = $input.first().json.body;
const isObject = body !== null && typeof body === 'object' && !Array.isArray(body);
const given = isObject ? body : {};
const bad = [];
if (!isObject) bad.push('body: must be a JSON object');
for (const key of Object.keys(given)) if (!ALLOWED.includes(key)) bad.push(key + ': unknown field');

const field = (key, required, fits, right) => {
  if (given[key] === undefined) { if (required) bad.push(key + ': missing'); }
  else if (!fits(given[key])) bad.push(key + ': ' + right);
};
