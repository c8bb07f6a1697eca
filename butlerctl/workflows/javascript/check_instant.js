const INSTANT = 'must be an RFC 3339 time with offset';
const instant = (key, required) => field(key, required, v => typeof v === 'string'
  && /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:[0-5]\d)$/.test(v), INSTANT);
const timesExistInOrder = () => {
  for (const key of ['start', 'end']) {
    const v = given[key];
    if (v !== undefined && !(dayExists(v.slice(0, 10)) && v.slice(11, 13) < '24' && !Number.isNaN(Date.parse(v)))) bad.push(key + ': ' + INSTANT);
  }
  if (!bad.length && given.start !== undefined && Date.parse(given.end) <= Date.parse(given.start)) bad.push('end: must be after start');
};
