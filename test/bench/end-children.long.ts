import '../fixture/at-length.js';
import './end-children.test.js';
