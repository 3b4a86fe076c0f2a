declare module '@adobe/structured-data-validator' {
  export default class Validator {
    constructor(vocabulary: object);
    validate(extracted: object): Promise<{ issueMessage: string }[]>;
  }
}
