import '../fixture/at-length.js';
import './abuse.test.js';
