import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isPublicAddress } from './safe-address.ts'

const PRIVATE = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '100.100.100.200',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.7',
  '203.0.113.7',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '0:0:0:0:0:0:0:1',
  '::7f00:1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::FFFF:10.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:0:127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::169.254.169.254',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  '2001:2::1',
  '2001:10::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:a9fe:a9fe::1',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
]

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '93.184.216.34',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.1',
  '168.63.129.17',
  '169.253.255.255',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.1',
  '192.167.255.255',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2606:2800:220:1:248:1893:25c8:1946',
  '2a00:1450:4001:82a::200e',
]

describe('public addresses', () => {
  test('are not those reserved for machines, networks, documentation and clouds', () => {
    expect(PRIVATE.filter(isPublicAddress)).toEqual([])
  })

  test('begin right beside the reserved ones', () => {
    expect(PUBLIC.filter((ip) => !isPublicAddress(ip))).toEqual([])
  })

  test('must be written as IP addresses: other spellings and names are refused', () => {
    const others = [
      '',
      'localhost',
      'example.com',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '127.1',
      '8.8.8',
      '8.8.8.8.',
      '[::1]',
      '8.8.8.8/0',
      ' 8.8.8.8',
      '1.1.1.1\n',
    ]
    expect(others.filter(isPublicAddress)).toEqual([])
  })

  test('never hide an IPv4 address in an IPv6 one', () => {
    fc.assert(
      fc.property(fc.ipV4(), (ip) => {
        const [a = 0, b = 0, c = 0, d = 0] = ip.split('.').map(Number)
        const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
        const forms = [
          `::ffff:${ip}`,
          `::ffff:${hex}`,
          `::${ip}`,
          `::ffff:0:${hex}`,
          `64:ff9b::${ip}`,
          `2002:${hex}::1`,
        ]
        expect(forms.filter(isPublicAddress)).toEqual([])
      }),
    )
  })
})
