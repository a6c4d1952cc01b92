import type { NetworkInterfaceInfo } from 'node:os'
import { describe, expect, test } from 'vitest'
import { shownUrl } from './shown-url.ts'

const v4 = (address: string, internal: boolean): NetworkInterfaceInfo => ({
  address,
  internal,
  family: 'IPv4',
  netmask: '255.255.255.0',
  mac: '',
  cidr: null,
})

const interfaces = { lo: [v4('127.0.0.1', true)], eth0: [v4('192.168.1.7', false)] }

describe('shownUrl', () => {
  test('replaces "everywhere" by an address of this machine', () => {
    expect(shownUrl('http://0.0.0.0:8000', interfaces)).toBe('http://192.168.1.7:8000')
    expect(shownUrl('https://[::]:8000', interfaces)).toBe('https://192.168.1.7:8000')
    expect(shownUrl('http://0.0.0.0:8000', {})).toBe('http://127.0.0.1:8000')
  })

  test('leaves every other address alone', () => {
    for (const url of ['http://127.0.0.1:8000', 'http://[::1]:8000', 'http://10.0.0.1:8000']) {
      expect(shownUrl(url, interfaces)).toBe(url)
    }
  })
})
