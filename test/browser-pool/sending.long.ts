import '../fixture/at-length.js';
import './sending.test.js';
