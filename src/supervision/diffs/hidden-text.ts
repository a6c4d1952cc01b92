// Text that a reviewer would overlook.

import { hidesCharacters } from '../../domain/visible-text.ts'

/** Code is indented, so only what no editor shows at once counts as padding. */
const PADDING = / {200}|\t{60}/
/** A carriage return inside a line: a terminal then writes over what came before it. */
const OVERWRITE = /\r(?!\n?$)/

/** Whether added lines hide something: characters that fonts do not draw, overwritten text, or text moved out of sight by spaces. */
export const linesHideText = (lines: readonly string[]): boolean =>
  lines.some((line) => PADDING.test(line) || OVERWRITE.test(line)) || hidesCharacters(lines)
