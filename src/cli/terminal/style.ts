import { takesColors } from '../../domain/text/takes-colors.ts'
import type { Io, OutputStream } from './io.ts'

export type Style = ReturnType<typeof makeStyle>

export function styleFor(stream: OutputStream, env: Io['env']): Style {
  return makeStyle(takesColors(stream, env))
}

function makeStyle(colours: boolean) {
  const paint = (open: number, close: number) => (text: string) =>
    colours ? `\x1b[${open}m${text}\x1b[${close}m` : text
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    italic: paint(3, 23),
    underline: paint(4, 24),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
  }
}

/** For text that is painted later, or not at all. */
export const plainStyle: Style = makeStyle(false)
