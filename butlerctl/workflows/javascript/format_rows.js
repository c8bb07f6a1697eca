let failed;
try { failed = $(SOURCE).all(1); } catch (e) { throw new Error('the answer of Google could not be used'); }
if (failed.length) return []; // the error output answers 502
const args = $('Check input').first(0).json.args;
const rows = $input.all().map(i => i.json).filter(j => j && Object.keys(j).length);
