import { expect, inject, it } from 'vitest';
import { openLane } from '../../src/decoder/lane.ts';
