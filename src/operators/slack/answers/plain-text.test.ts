import { expect, test } from 'vitest'
import { plainText } from './plain-text.ts'

test.each([
  ['a &lt;b&gt; &amp; c', 'a <b> & c'],
  // One step back, not two.
  ['&amp;lt;b&amp;gt;', '&lt;b&gt;'],
  ['see <https://a.example/x?y=1&amp;z=2>', 'see https://a.example/x?y=1&z=2'],
  ['<https://a.example|the docs> say', 'the docs (https://a.example) say'],
  ['change <http://README.md|README.md>', 'change README.md'],
  ['<http://a.example/|a.example>', 'a.example'],
  ['mail <mailto:a@b.example|a@b.example>', 'mail a@b.example'],
  ['call <tel:+491234|+49 1234>', 'call +49 1234 (tel:+491234)'],
  ['<@U0ANN> and <@U0BEN|ben> and <@W0X>', '@ann and @ben and @W0X'],
  ['in <#C0OPS|ops> or <#C0TWO>', 'in #ops or #C0TWO'],
  ['<!channel> <!here|here> <!subteam^S1|@team> <!date^1^{date}|today>', '@channel here @team today'],
  ['“curly” – and ‘single’', '“curly” – and ‘single’'],
  ['<b>bold</b> and <Map<string>>', '<b>bold</b> and <Map<string>>'],
  ['<javascript:alert(1)|x>', '<javascript:alert(1)|x>'],
])('%s is %s', (text, plain) => {
  expect(plainText(text, (user) => (user === 'U0ANN' ? 'ann' : null))).toBe(plain)
})

test('a long hostile text is read at once', () => {
  const before = process.threadCpuUsage()
  for (const piece of ['<', '<@', '&amp', '<http://a|', '>', '<!date^']) plainText(piece.repeat(40_000 / piece.length))
  expect(process.threadCpuUsage(before).user).toBeLessThan(10_000_000)
})
