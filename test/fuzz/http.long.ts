import '../fixture/at-length.js';
import './http.test.js';
