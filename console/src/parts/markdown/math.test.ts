import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, test } from 'vitest'
import { drawFormula } from './draw-formula.ts'
import { isMath } from './math-tokens.ts'
import { createBlockReader } from './read-blocks.ts'

/** The formulas in a text, and whether each has a line of its own. */
function formulas(text: string): string[] {
  const found: string[] = []
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(walk)
    else if (typeof value === 'object' && value !== null) {
      if ('type' in value && typeof value.type === 'string' && isMath(value as { type: string })) {
        const { tex, isBlock } = value as unknown as { tex: string; isBlock: boolean }
        found.push(`${isBlock ? 'block ' : ''}${tex}`)
      } else Object.values(value).forEach(walk)
    }
  }
  walk(createBlockReader()(text))
  return found
}
const markup = (tex: string, isBlock = false) => {
  const drawn = drawFormula(tex, isBlock)
  return drawn === null ? null : renderToStaticMarkup(drawn)
}

describe('formulas in a text', () => {
  test.each([
    ['Euler: $e^{i\\pi} + 1 = 0$.', ['e^{i\\pi} + 1 = 0']],
    ['With \\(a_1\\) and \\[b\\] here', ['a_1', 'block b']],
    ['$$\na\n=\n- b\n$$\n\nAfter', ['block a\n=\n- b']],
    ['Before\n\\[\nx^2\n\\]\nafter', ['block x^2']],
    ['- item $x$\n- and $$y$$', ['x', 'block y']],
    ['| a |\n| - |\n| $x_1$ |', ['x_1']],
  ])('%j', (text, expected) => {
    expect(formulas(text)).toEqual(expected)
  })

  test.each([
    'It costs $5 and $10.',
    'From $5-$10, or US$3=US$4.',
    'echo $HOME_DIR and $PATH_X, then $A/$B',
    'Code `$x^2$` and `\\(a\\)`',
    '```\n$$x$$\n```',
    'An escaped \\$x^2\\$ and a lone $ sign',
    'Unfinished $$ x^2',
    '$$\n\ngap\n\n$$',
  ])('none: %j', (text) => {
    expect(formulas(text)).toEqual([])
  })

  test('come as they grow as if they had come at once', () => {
    const text = 'One $a^2$ two\n\n$$\n\\frac{a}{b}\n= c\n$$\n\n- \\(x_1\\)\n\nThe end \\[y\\].\n'
    const read = createBlockReader()
    for (let length = 1; length <= text.length; length += 1) {
      expect(read(text.slice(0, length))).toEqual(createBlockReader()(text.slice(0, length)))
    }
  })

  test.each(['\\[\n', '\\(', '$a ', '$$\n', '$a$', '$$a'])('a text full of %j is read all the same', (piece) => {
    expect(createBlockReader()(piece.repeat(20_000 / piece.length)).length).toBeGreaterThan(0)
  })
})

describe('a formula', () => {
  test('is MathML', () => {
    expect(markup('x^2 + \\frac{a}{b}')).toBe(
      '<math><mrow><mrow><msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><mfrac><mi>a</mi><mi>b</mi></mfrac></mrow></mrow></math>',
    )
    expect(markup('\\begin{align}a&=b\\\\&=c\\end{align}', true)).toContain('text-align:right')
    expect(markup('\\text{<b onclick=x>}')).toMatch(/&lt;b.onclick=x&gt;/)
  })

  test.each([
    '\\href{javascript:alert(1)}{x}',
    '\\url{https://example.com}',
    '\\includegraphics{https://example.com/x.png}',
    '\\htmlStyle{position:fixed}{x}',
    '\\class{x}{y}',
    '\\def\\a{\\a\\a}\\a',
    '\\def\\a{xxxxxxxxxx}\\def\\b{\\a\\a\\a\\a\\a\\a\\a\\a\\a\\a}\\b\\b\\b\\b\\b\\b\\b\\b\\b\\b',
    'x'.repeat(2_001),
    '{x'.repeat(500) + '}'.repeat(500),
    '\\sqrt{'.repeat(100) + '}'.repeat(100),
    '\\char"202E abc',
    'a\u202eb',
    '\\frac{a}',
  ])('stays text: %j', (tex) => {
    expect(markup(tex)).toBe(null)
  })

  test('has no colours, and sizes stay small however often they are asked for', () => {
    const hostile =
      markup('\\color{white}{a}\\Huge{\\Huge{b}}\\rule{9999em}{9999em}\\hspace{-9999em}\\colorbox{red}{c}') ?? ''
    expect(hostile).not.toMatch(/color|mathsize|background|9999|href|class/)
  })

  test('leaves nothing behind for the next one', () => {
    markup('\\gdef\\sin{evil}\\sin')
    expect(markup('\\sin x')).toContain('<mi>sin</mi>')
  })
})
