import { PDFDocument, PDFName, PDFString, StandardFonts } from 'pdf-lib'
import { expect, test } from 'vitest'
import { openPdf } from './open-pdf.ts'
import { pageAnnotations } from './page-annotations.ts'
import { pageText } from './page-text.ts'

async function annotationsOf(pdf: PDFDocument): Promise<string> {
  const opened = await openPdf(await pdf.save())
  try {
    const page = await opened.getPage(1)
    return await pageAnnotations(page, await pageText(page))
  } finally {
    await opened.loadingTask.destroy()
  }
}

test('form fields are listed as a person sees them, from top to bottom', async () => {
  const pdf = await PDFDocument.create()
  const page = pdf.addPage([595, 842])
  const form = pdf.getForm()
  const at = (y: number, x = 50) => ({ x, y, width: 100, height: 20 })
  const country = form.createDropdown('form.country')
  country.addOptions(['Norway', 'Chile'])
  country.select('Chile')
  country.addToPage(page, at(600))
  const name = form.createTextField('form.name')
  name.setText('Ada Lovelace')
  name.addToPage(page, at(700))
  form.createTextField('form.nothing').addToPage(page, at(650))
  const ship = form.createTextField('form.ship[0]')
  ship.setText('Fram')
  ship.addToPage(page, at(702, 300))
  ship.acroField.getWidgets()[0]?.dict.set(PDFName.of('TU'), PDFString.of('Name of the ship'))
  for (const [which, y] of [
    ['member', 500],
    ['guest', 470],
  ] as const) {
    const box = form.createCheckBox(`form.${which}`)
    box.addToPage(page, { ...at(y), width: 20 })
    if (which === 'member') box.check()
  }
  const berth = form.createRadioGroup('form.berth')
  berth.addOptionToPage('north', page, { ...at(400), width: 20 })
  berth.addOptionToPage('south', page, { ...at(370), width: 20 })
  berth.select('south')

  expect(await annotationsOf(pdf)).toBe(
    [
      'Form fields:',
      '- name: Ada Lovelace',
      '- Name of the ship: Fram',
      '- country: Chile',
      '- [x] member',
      '- [ ] guest',
      '- berth: south',
    ].join('\n'),
  )
})

test('comments, highlights and targets of links are listed with their authors', async () => {
  const pdf = await PDFDocument.create()
  const page = pdf.addPage([595, 842])
  const font = await pdf.embedFont(StandardFonts.Helvetica)
  page.drawText('The northern quay is closed. See https://example.com/quay or here.', { x: 50, y: 700, size: 12, font })
  const width = (text: string) => font.widthOfTextAtSize(text, 12)
  const [from, to] = [50 + width('The '), 50 + width('The northern quay')]
  const annots = [
    {
      Subtype: 'Highlight',
      Rect: [from, 697, to, 712],
      QuadPoints: [from, 712, to, 712, from, 697, to, 697],
      Contents: PDFString.of('Since\nwhen?'),
      T: PDFString.of('Ada'),
    },
    {
      Subtype: 'FreeText',
      Rect: [50, 500, 200, 520],
      Contents: PDFString.of('Ask the pilots.'),
      DA: PDFString.of('/Helv 10 Tf'),
    },
    { Subtype: 'Text', Rect: [50, 400, 70, 420], Contents: PDFString.of('Hidden.'), F: 2 },
    { Subtype: 'Text', Rect: [50, 300, 70, 320], Contents: PDFString.of('') },
    { Subtype: 'Link', Rect: [200, 697, 300, 712], A: { S: 'URI', URI: PDFString.of('https://example.com/quay') } },
    {
      Subtype: 'Link',
      Rect: [320, 600, 420, 612],
      A: { S: 'URI', URI: PDFString.of('https://example.com/elsewhere') },
    },
  ].map((entry) => pdf.context.register(pdf.context.obj({ Type: 'Annot', ...entry })))
  page.node.set(PDFName.of('Annots'), pdf.context.obj(annots))

  expect(await annotationsOf(pdf)).toBe(
    [
      'Comments:',
      '- Highlighted "northern quay": Since when? (Ada)',
      '- Ask the pilots.',
      '',
      'Links:',
      '- https://example.com/elsewhere',
    ].join('\n'),
  )
})

test('a page without annotations gives nothing', async () => {
  const pdf = await PDFDocument.create()
  pdf.addPage()

  expect(await annotationsOf(pdf)).toBe('')
})
