"""Where a data set is, how it is read and decoded."""


class Dataset:
    def __init__(self, data_sources, reader, decoder, num_samples, items_to_descriptions, **kwargs):
        self.data_sources, self.reader, self.decoder = data_sources, reader, decoder
        self.num_samples, self.items_to_descriptions = num_samples, items_to_descriptions
        self.__dict__.update(kwargs)
