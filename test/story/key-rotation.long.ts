import '../fixture/at-length.js';
import './key-rotation.test.js';
