import { expect, test } from 'vitest'
import { compareLinkText, linkTarget } from './Inline.tsx'

test('leads only to the web and to mail', () => {
  expect(linkTarget('https://example.com/a?b=c')).toEqual({
    href: 'https://example.com/a?b=c',
    host: 'example.com',
    shown: 'example.com/a?b=c',
  })
  expect(linkTarget('http://example.com')?.shown).toBe('http://example.com')
  expect(linkTarget('mailto:a@example.com')?.shown).toBe('a@example.com')
  const refused = [
    'javascript:alert(1)',
    ' JaVaScRiPt:x',
    'data:text/html,x',
    'file:///etc/passwd',
    '/console',
    '#x',
    '//',
  ]
  for (const address of [...refused, 'https://bank.com@evil.com/', 'blob:https://a/b', '']) {
    expect(linkTarget(address), address).toBeNull()
  }
})

test('shows the real host of letters that look like others', () => {
  expect(linkTarget('https://раypal.com/')?.shown).toMatch(/^xn--/)
  expect(linkTarget('https://example.com/\u202egnp.exe')?.shown).toBe('example.com/%E2%80%AEgnp.exe')
})

test('cuts a long path, never the host', () => {
  const host = `${'a'.repeat(60)}.example.com`
  expect(linkTarget(`https://${host}/${'x'.repeat(100)}`)?.shown).toBe(`${host}/xxxxxxxxxx…`)
})

test('tells a text that names another place than it leads to', () => {
  const target = linkTarget('https://evil.example/login')
  if (target === null) throw new Error('it is a fine address')
  expect(compareLinkText('https://evil.example/login', target)).toBe('same')
  expect(compareLinkText('the login', target)).toBe('words')
  expect(compareLinkText('evil.example', target)).toBe('words')
  expect(compareLinkText('https://bank.example/login', target)).toBe('elsewhere')
  expect(compareLinkText('WWW.Bank.example', target)).toBe('elsewhere')
  expect(compareLinkText('bänk.example', target)).toBe('elsewhere')
})
