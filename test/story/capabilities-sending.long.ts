import '../fixture/at-length.js';
import './capabilities-sending.test.js';
