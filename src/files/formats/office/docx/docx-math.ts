// Formulas of a Word document, written in LaTeX where plain text would change the meaning: the two numbers of a fraction, written
// side by side, would read as one other number.

import { attribute } from '../xml-scanner.ts'

interface Structure {
  name: string
  text: string
  /** The parts of the structure by name, for example the base, the numerator or the superscript. */
  places: Map<string, string[]>
  /** The characters that the structure is drawn with, such as brackets or an integral sign. */
  signs: Map<string, string>
}

const places = new Set(['e', 'num', 'den', 'sub', 'sup', 'deg', 'lim', 'fName', 'mr'])
const signs = new Set(['chr', 'begChr', 'endChr', 'sepChr', 'type'])

const operators = new Map([
  ['∑', '\\sum'],
  ['∏', '\\prod'],
  ['∫', '\\int'],
])

export function createDocxMath() {
  const whole = structure('')
  const stack: Structure[] = [whole]
  const top = (): Structure => stack.at(-1) ?? whole
  let inText = false

  return {
    open(name: string, attributes: string): void {
      if (name === 't') inText = true
      else if (signs.has(name)) top().signs.set(name, attribute(attributes, 'm:val') ?? '')
      else if (places.has(name) || renderers.has(name)) stack.push(structure(name))
    },
    text(text: string): void {
      if (inText) top().text += text
    },
    close(name: string): void {
      if (name === 't') inText = false
      if (!places.has(name) && !renderers.has(name)) return
      const closed = stack.pop()
      if (closed === undefined) return
      const around = top()
      const render = renderers.get(name)
      if (render !== undefined) around.text += render(closed)
      else {
        const text = name === 'mr' ? (closed.places.get('e') ?? []).join(' & ') : closed.text
        const others = around.places.get(name)
        if (others === undefined) around.places.set(name, [text])
        else others.push(text)
      }
    },
    /** The formula, once all its elements are closed. */
    formula: (): string => whole.text.trim(),
  }
}

export type DocxMath = ReturnType<typeof createDocxMath>

const structure = (name: string): Structure => ({ name, text: '', places: new Map(), signs: new Map() })

const place = ({ places: all }: Structure, name: string): string => all.get(name)?.join('') ?? ''
const script = (of: Structure, name: string, mark: string): string =>
  place(of, name) === '' ? '' : `${mark}{${place(of, name)}}`
const scripts = (of: Structure): string => script(of, 'sub', '_') + script(of, 'sup', '^')
const based = (of: Structure): string => place(of, 'e') + scripts(of)

const renderers = new Map<string, (of: Structure) => string>([
  ['f', fraction],
  ['sSup', based],
  ['sSub', based],
  ['sSubSup', based],
  ['sPre', (of) => `{}${scripts(of)}${place(of, 'e')}`],
  ['rad', (of) => `\\sqrt${place(of, 'deg') === '' ? '' : `[${place(of, 'deg')}]`}{${place(of, 'e')}}`],
  ['nary', nary],
  ['d', brackets],
  ['func', (of) => `${place(of, 'fName')} ${place(of, 'e')}`],
  ['limLow', (of) => place(of, 'e') + script(of, 'lim', '_')],
  ['limUpp', (of) => place(of, 'e') + script(of, 'lim', '^')],
  ['bar', (of) => `\\overline{${place(of, 'e')}}`],
  // A combining character follows its base.
  ['acc', (of) => place(of, 'e') + (of.signs.get('chr') ?? '\u0302')],
  ['m', (of) => `\\begin{matrix} ${(of.places.get('mr') ?? []).join(' \\\\ ')} \\end{matrix}`],
  ['eqArr', (of) => (of.places.get('e') ?? []).join(' \\\\ ')],
  ['box', (of) => place(of, 'e')],
  ['borderBox', (of) => place(of, 'e')],
  ['groupChr', (of) => place(of, 'e')],
  ['phant', (of) => place(of, 'e')],
])

function fraction(of: Structure): string {
  const [above, below] = [place(of, 'num'), place(of, 'den')]
  switch (of.signs.get('type')) {
    case 'lin':
      return `{${above}}/{${below}}`
    case 'noBar':
      return `\\binom{${above}}{${below}}`
    default:
      return `\\frac{${above}}{${below}}`
  }
}

function nary(of: Structure): string {
  const operator = of.signs.get('chr') ?? '∫'
  return `${operators.get(operator) ?? operator}${scripts(of)} ${place(of, 'e')}`
}

function brackets(of: Structure): string {
  const inside = (of.places.get('e') ?? []).join(of.signs.get('sepChr') ?? '|')
  return (of.signs.get('begChr') ?? '(') + inside + (of.signs.get('endChr') ?? ')')
}
