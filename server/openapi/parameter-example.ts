/**
 * The example of a parameter. One that is optional is shown, and left out of the requests that the viewer fills in with examples: a
 * reader who only presses the button wants no page of a list, and no answer of a copy that is still current.
 */
export function parameterExample(value: unknown, required: boolean): object {
  return required ? { example: value } : { examples: { usual: { value, 'x-disabled': true } } };
}
