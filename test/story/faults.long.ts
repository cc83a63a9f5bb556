import '../fixture/at-length.js';
import './faults.test.js';
