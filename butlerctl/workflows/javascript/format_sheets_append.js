const sameCell = (a, b) => String(a ?? '') === String(b) || (a !== '' && b !== '' && Number(a) === Number(b));
const hit = rows.filter(row => COLUMNS.every((column, i) => sameCell(row[column], args.values[i]))).pop();
if (!hit) throw new Error('row not found on read-back');
return [{ json: { data: { id: args.sheet + '!A' + hit.row_number, row_number: hit.row_number, values: args.values } } }];
