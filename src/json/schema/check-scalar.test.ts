import { expect, test } from 'vitest'
import { textFormats } from './check-scalar.ts'

test.each([
  ['date', ['2026-01-31', '2024-02-29', '0001-01-01'], ['2025-02-29', '2026-13-01', '26-1-1', '2026-01-31T00:00:00Z']],
  ['time', ['12:30:00Z', '23:59:60+01:30', '00:00:00.123z'], ['12:30:00', '24:00:00Z', '12:60:00Z']],
  [
    'date-time',
    ['2026-01-31T12:30:00Z', '2026-01-31t12:30:00.5-08:00'],
    ['2026-01-31', '2026-02-30T12:30:00Z', '2026-01-31T12:30'],
  ],
  [
    'email',
    ['ann@example.com', "o'neil+x@sub.example.org"],
    ['ann', '@example.com', 'a b@example.com', 'a@b@c', 'a@-x.com'],
  ],
  ['hostname', ['example.com', 'localhost', 'a-b.c'], ['-a.com', 'a..b', 'a_b', '']],
  ['ipv4', ['127.0.0.1'], ['256.0.0.1', '1.2.3', '::1']],
  ['ipv6', ['::1', '2001:db8::1'], ['127.0.0.1', ':::']],
  [
    'uri',
    ['https://example.com/a?b#c', 'mailto:ann@example.com', 'urn:x:y'],
    ['example.com', '/a', 'https://', 'a b:c'],
  ],
  ['url', ['https://example.com'], ['example.com']],
  ['uuid', ['01890a5d-ac96-774b-bcce-b302099a8057'], ['01890a5dac96774bbcceb302099a8057', 'x']],
])('%s', (format, good, bad) => {
  const { fits } = textFormats.get(format) ?? { fits: () => null }
  expect(good.map((text) => [text, fits(text)])).toEqual(good.map((text) => [text, true]))
  expect(bad.map((text) => [text, fits(text)])).toEqual(bad.map((text) => [text, false]))
})
