import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { Markdown } from './Markdown.tsx'

/** The page without the names of styles. */
const page = (text: string): string =>
  renderToStaticMarkup(createElement(Markdown, { text })).replace(/ (?:class|dir)="[^"]*"/g, '')

test('shows HTML as text, whatever it tries', () => {
  expect(page('<script>alert(1)</script>\n\n<img src=x onerror=alert(1)> and <b>bold</b>')).toBe(
    '<div><p>&lt;script&gt;alert(1)&lt;/script&gt;</p>' +
      '<p>&lt;img src=x onerror=alert(1)&gt; and &lt;b&gt;bold&lt;/b&gt;</p></div>',
  )
})

test('marks characters that would turn the text around', () => {
  expect(page('abc\u202edef `\u202e`')).toContain('&lt;U+202E&gt;</mark>def')
  expect(page('abc\u202edef `\u202e`')).not.toContain('\u202e')
  expect(page('```\na\u202eb\n```')).not.toContain('\u202e')
})

test('loads no picture, and says where it would come from', () => {
  const html = page('![a cat](https://tracker.example/cat.png)')
  expect(html).not.toContain('<img')
  expect(html).toContain('Picture: a cat')
  expect(html).toContain('>tracker.example/cat.png</a>')
})

test('makes a link of the address and not of the text', () => {
  expect(page('[docs](https://example.com/guide)')).toBe(
    '<div><p><bdi>docs</bdi> <span><a href="https://example.com/guide" target="_blank" rel="noopener noreferrer" ' +
      'title="https://example.com/guide">example.com/guide</a></span></p></div>',
  )
  expect(page('[click](javascript:alert(1))')).toBe('<div><p>click <bdi>(javascript:alert(1))</bdi></p></div>')
  expect(page('[bank.com](https://evil.example)')).toContain('leads elsewhere')
})

test('hides nothing that was written: definitions and unknown references stay', () => {
  expect(page('[//]: # (a note for nobody)')).toBe('<div><p>[//]: # (a note for nobody)</p></div>')
  expect(page('a &lt; b &amp; c &foo; `&lt;`')).toBe(
    '<div><p>a &lt; b &amp; c &amp;foo; <code>&amp;lt;</code></p></div>',
  )
})

test('draws lists, tasks and tables', () => {
  expect(page('- [x] done\n- [ ] open\n\n3. three')).toBe(
    '<div><ul><li><span role="img" aria-label="Done:">✓</span>done</li>' +
      '<li><span role="img" aria-label="To do:"></span>open</li></ul><ol start="3"><li>three</li></ol></div>',
  )
  expect(page('|a|\n|-:|\n|1|')).toContain('<td style="text-align:right">1</td>')
})

test('gives up on formats that are too deep, and shows what was written', () => {
  expect(page(`${'> '.repeat(40)}deep`)).toContain('deep')
  expect(page(`${'**_'.repeat(100)}deep${'_**'.repeat(100)}`)).toContain('deep')
})
