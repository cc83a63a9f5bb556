import '../fixture/at-length.js';
import './login.test.js';
