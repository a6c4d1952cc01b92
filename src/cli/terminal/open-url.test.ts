import { describe, expect, test } from 'vitest'
import { openerFor } from './open-url.ts'

describe('openerFor', () => {
  test('knows the opener of each system, with the URL as one argument', () => {
    const url = 'http://127.0.0.1:8000/#token=a&b;c'
    expect(openerFor(url, 'linux')).toEqual({ program: 'xdg-open', args: [url] })
    expect(openerFor(url, 'darwin')).toEqual({ program: 'open', args: [url] })
    expect(openerFor(url, 'win32')).toEqual({ program: 'rundll32', args: ['url.dll,FileProtocolHandler', url] })
  })

  test('opens nothing but web pages', () => {
    for (const url of ['file:///etc/passwd', 'javascript:alert(1)', '-h', '--version', 'ssh://host', '']) {
      expect(openerFor(url, 'linux')).toBeNull()
    }
  })
})
