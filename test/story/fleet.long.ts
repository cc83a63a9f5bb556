import '../fixture/at-length.js';
import './fleet.test.js';
