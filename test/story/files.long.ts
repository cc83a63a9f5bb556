import '../fixture/at-length.js';
import './files.test.js';
