import '../fixture/at-length.js';
import './capabilities.test.js';
