const dayExists = day => Number(day.slice(0, 4)) > 0 && !Number.isNaN(Date.parse(day))
  && new Date(day).toISOString().slice(0, 10) === day;
