const limit = () => field('limit', false, v => Number.isInteger(v) && v >= 1 && v <= MOST, 'must be an integer from 1 to ' + MOST);
