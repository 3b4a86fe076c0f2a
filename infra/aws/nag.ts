import { Validations } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';

/** Accepts findings of cdk-nag at a construct. `reasons` are by rule of AwsSolutions. */
export function acknowledge(construct: IConstruct, reasons: Record<string, string>): void {
  const rules = Object.entries(reasons).map(([rule, reason]) => ({
    id: `AwsSolutions-${rule}`,
    reason,
  }));
  Validations.of(construct).acknowledge(...rules);
}
