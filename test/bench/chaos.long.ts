import '../fixture/at-length.js';
import './chaos.test.js';
