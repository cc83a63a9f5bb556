import '../../fixture/at-length.js';
import './large-inputs.test.js';
