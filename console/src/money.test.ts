import { expect, test } from 'vitest'
import { axisMoney, moneyText } from './money.ts'

test('small amounts are not rounded to nothing', () => {
  expect(moneyText(0, 'USD')).toBe('$0.00')
  expect(moneyText(12.345, 'EUR')).toBe('€12.35')
  expect(moneyText(0.5, 'USD')).toBe('$0.50')
  expect(moneyText(0.00421, 'USD')).toBe('$0.0042')
  expect(moneyText(null, 'USD')).toBe('–')
  expect(moneyText(3, 'no currency')).toBe('3.00 no currency')
})

test('an axis shows the digits in which its marks differ', () => {
  expect(axisMoney(20, 'USD', 5)).toBe('$20')
  expect(axisMoney(0.25, 'USD', 0.05)).toBe('$0.25')
  expect(axisMoney(0.75, 'USD', 0.25)).toBe('$0.75')
})
