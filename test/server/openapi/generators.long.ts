import '../../fixture/at-length.js';
import './generators.test.js';
