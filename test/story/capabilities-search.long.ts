import '../fixture/at-length.js';
import './capabilities-search.test.js';
