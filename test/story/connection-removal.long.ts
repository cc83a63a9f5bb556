import '../fixture/at-length.js';
import './connection-removal.test.js';
