import { expect, test } from 'vitest'
import { shownCommand, shownUrl, writtenText } from './shown-settings.ts'

test.each([
  ['https://a.example/x?q=1&api_key=abc&max_tokens=5', 'https://a.example/x?q=1&api_key=[masked]&max_tokens=5'],
  ['https://ann:pw@a.example/x', 'https://[masked]@a.example/x'],
  ['https://a.example:8443/x?access%5Ftoken=abc', 'https://a.example:8443/x?access%5Ftoken=[masked]'],
  ['https://a.example/?token', 'https://a.example/?token'],
])('the address %s is shown as %s', (url, shown) => {
  expect(shownUrl(new URL(url))).toBe(shown)
})

test('a command line is shown with its secrets masked and its words apart', () => {
  expect(shownCommand('npx', ['-y', 'server', '--token', 'abc', '--api-key=def', '--name', 'a b', './notes'])).toBe(
    'npx -y server --token [masked] --api-key=[masked] --name "a b" ./notes',
  )
})

test('a text of the settings is shown with the variables masked that hold secrets', () => {
  expect(writtenText({ text: ['https://a.example/', { variable: 'API_KEY' }, '/x'] })).toBe(
    'https://a.example/[masked]/x',
  )
  expect(writtenText('https://a.example/{id}')).toBe('https://a.example/{id}')
  expect(writtenText({ list: [] })).toBe(null)
})
