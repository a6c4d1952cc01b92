import { describe, expect, test } from 'vitest'
import { formatNumber, numberFormatOf } from './number-format.ts'

describe('number formats of Excel', () => {
  test.each([
    [0, undefined, 'plain'],
    [14, undefined, 'date'],
    [20, undefined, 'time'],
    [22, undefined, 'date'],
    [46, undefined, 'duration'],
    [164, 'yyyy\\-mm\\-dd', 'date'],
    [164, 'd. mmmm yyyy', 'date'],
    [164, '[$-409]h:mm AM/PM', 'time'],
    [164, '[h]:mm:ss', 'duration'],
    [164, 'General', 'plain'],
    [164, '# ?/?', 'plain'],
    [164, '0.00E+00', 'plain'],
    [164, '_*'.repeat(5_000), 'plain'],
    [164, `[${'_['.repeat(5_000)}`, 'plain'],
    [164, '0.0,,"M"', 'plain'],
  ] as const)('%s %s is %s', (id, code, format) => {
    expect(numberFormatOf(id, code)).toBe(format)
  })
})

describe('numbers as Excel shows them', () => {
  test.each([
    [46_037, 'date', '2026-01-15'],
    [46_037.75, 'date', '2026-01-15T18:00:00'],
    [59, 'date', '1900-02-28'],
    [61, 'date', '1900-03-01'],
    [-5, 'date', '-5'],
    [1e12, 'date', '1000000000000'],
    [0.5, 'time', '12:00:00'],
    [1.25, 'duration', '30:00:00'],
    [0.1 + 0.2, 'plain', '0.3'],
    [1234567.89, 'plain', '1234567.89'],
  ] as const)('%s as %s is %s', (value, format, text) => {
    expect(formatNumber(value, format, false)).toBe(text)
  })

  test.each([
    [123, 164, '00000', '00123'],
    [1.5, 164, '#,##0.00 "€"', '1.50 €'],
    [1.5, 164, '#,##0.00\\ [$€-407]', '1.50 €'],
    [1234.5, 164, '"$"#,##0.00_);[Red]\\("$"#,##0.00\\)', '$1234.50'],
    [-1.5, 164, '_-* #,##0.00 [$CHF-807]_-;-* #,##0.00', '-1.50 CHF'],
    [0.12, 164, '0 %', '12 %'],
    [0.12, 10, undefined, '12.00%'],
    [0.125, 9, undefined, '12.5%'],
    [-0.125, 164, '0.0%', '-12.5%'],
    [2, 2, undefined, '2.00'],
    [1.239, 164, '0.00', '1.239'],
    [3, 164, '0 "days"', '3 days'],
    [7, 164, '[Red]#,##0;[Blue]-#,##0', '7'],
    [7, 164, '"m"0', 'm7'],
    [1e30, 164, '0.00', '1e+30'],
    [7, 164, `0"${'x'.repeat(99)}"`, `7${'x'.repeat(20)}`],
  ])('%s in %s %s is %s', (value, id, code, text) => {
    expect(formatNumber(value, numberFormatOf(id, code), false)).toBe(text)
  })

  test('workbooks from old Macs count from 1904', () => {
    expect(formatNumber(44_575, 'date', true)).toBe('2026-01-15')
  })
})
