import { describe, expect, test } from 'vitest'
import { paragraph, run, textOf } from '../testing/docx-xml.ts'

const m = (text: string): string => `<m:r><w:rPr><w:b/></w:rPr><m:t>${text}</m:t></m:r>`
const place = (name: string, content: string): string => `<m:${name}>${content}</m:${name}>`
const sign = (name: string, value: string): string => `<m:${name} m:val="${value}"/>`

describe('formulas of a Word document', () => {
  test.each([
    ['a fraction', place('f', place('num', m('1')) + place('den', m('2'))), '\\frac{1}{2}'],
    [
      'a fraction on the line',
      place('f', place('fPr', sign('type', 'lin')) + place('num', m('a')) + place('den', m('b'))),
      '{a}/{b}',
    ],
    [
      'powers and indices',
      place('sSubSup', place('e', m('x')) + place('sub', m('i')) + place('sup', m('2'))),
      'x_{i}^{2}',
    ],
    [
      'roots',
      place('rad', place('deg', '') + place('e', m('x'))) + place('rad', place('deg', m('3')) + place('e', m('y'))),
      '\\sqrt{x}\\sqrt[3]{y}',
    ],
    [
      'sums',
      place(
        'nary',
        place('naryPr', sign('chr', '∑')) + place('sub', m('i=1')) + place('sup', m('n')) + place('e', m('i')),
      ),
      '\\sum_{i=1}^{n} i',
    ],
    [
      'brackets',
      place('d', place('dPr', sign('begChr', '[') + sign('endChr', ')')) + place('e', m('0')) + place('e', m('1'))),
      '[0|1)',
    ],
    ['functions', place('func', place('fName', m('sin')) + place('e', m('x'))), 'sin x'],
    [
      'matrices',
      place(
        'm',
        place('mr', place('e', m('a')) + place('e', m('b'))) + place('mr', place('e', m('c')) + place('e', m('d'))),
      ),
      '\\begin{matrix} a & b \\\\ c & d \\end{matrix}',
    ],
    [
      'one inside another',
      place('f', place('num', place('sSup', place('e', m('x')) + place('sup', m('2')))) + place('den', m('y'))),
      '\\frac{x^{2}}{y}',
    ],
    ['what it does not know', place('unknown', m('z')), 'z'],
  ])('keep %s', async (_, formula, expected) => {
    expect(await textOf(paragraph(`${run('is ', '<w:b/>')}<m:oMath>${formula}</m:oMath>${run(' here')}`))).toBe(
      `**is** $${expected}$ here`,
    )
  })

  test('are shown after hidden text and before a hidden end of the paragraph', async () => {
    const formula = `<m:oMathPara><m:oMath>${m('E=mc')}</m:oMath></m:oMathPara>`

    expect(
      await textOf(paragraph(run('no', '<w:vanish/>') + formula) + paragraph(formula, '<w:rPr><w:vanish/></w:rPr>')),
    ).toBe('$E=mc$\n\n$E=mc$')
  })
})
