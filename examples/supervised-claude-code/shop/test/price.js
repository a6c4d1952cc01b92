import assert from 'node:assert/strict'
import { test } from 'node:test'
import { price } from '../src/price.js'

test('a discount makes it cheaper', () => {
  assert.equal(price(1_000, 10), 900)
})
